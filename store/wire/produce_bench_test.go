package wire

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/record"
)

// bareServer takes frames, writes each with one pwrite and answers 8 bytes: the limit of what a listener can do.
func bareServer(b *testing.B) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(filepath.Join(b.TempDir(), "bare"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = ln.Close()
		_ = f.Close()
	})
	go func() { // ends with the listener
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			go serveBare(nc, f)
		}
	}()
	return ln.Addr().String()
}

func serveBare(nc net.Conn, f *os.File) {
	defer nc.Close()
	in := bufio.NewReaderSize(nc, inBuffer)
	var buf []byte
	at := int64(0)
	for {
		var head [4]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return
		}
		n := int(binary.BigEndian.Uint32(head[:]))
		if cap(buf) < n {
			buf = make([]byte, n)
		}
		if _, err := io.ReadFull(in, buf[:n]); err != nil {
			return
		}
		if at > 512<<20 {
			at = 0 // as much of the page cache as a segment
		}
		if _, err := f.WriteAt(buf[:n], at); err != nil {
			return
		}
		at += int64(n)
		if _, err := nc.Write([]byte{0, 0, 0, 4, 0, 0, 0, 0}); err != nil {
			return
		}
	}
}

// pump sends n frames, inFlight at a time, and takes their answers.
func pump(b *testing.B, nc net.Conn, frame []byte, n int) {
	const inFlight = 5
	done := make(chan error, 1)
	tokens := make(chan struct{}, inFlight)
	go func() { // ends with the answers, or the connection
		in := bufio.NewReader(nc)
		for range n {
			var head [4]byte
			if _, err := io.ReadFull(in, head[:]); err != nil {
				done <- err
				return
			}
			if _, err := in.Discard(int(binary.BigEndian.Uint32(head[:]))); err != nil {
				done <- err
				return
			}
			<-tokens
		}
		done <- nil
	}()
	for range n {
		select {
		case tokens <- struct{}{}:
		case err := <-done:
			b.Fatal(err)
		}
		if _, err := nc.Write(frame); err != nil {
			b.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}

// BenchmarkProduce produces through the listener over one connection, and in turns sends the same frames to a server
// that writes them with one pwrite and does nothing else. ratio is the median of the turns.
func BenchmarkProduce(b *testing.B) {
	for _, size := range []int{1 << 10, 16 << 10, 256 << 10, 1000 << 10} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			c := startCore(b, Options{}, model.TopicSpec{Name: "bench", Partitions: 1, Configs: []model.ConfigChange{
				{Name: "retention.bytes", Value: "1073741824"}, {Name: "segment.bytes", Value: "536870912"}, {Name: "file.delete.delay.ms", Value: "0"},
			}})
			var in []record.Input
			for left := size; left > 0; left -= 1 << 10 {
				in = append(in, record.Input{Timestamp: time.Now().UnixMilli(), Value: make([]byte, 1<<10-12)})
			}
			batch, err := record.AppendBatch(nil, record.Spec{}, in)
			if err != nil {
				b.Fatal(err)
			}
			frame := frameOf(produceOf("bench", 1, map[int32][]byte{0: batch}), 9, 1)
			product := c.dial().nc
			bare, err := net.Dial("tcp", bareServer(b))
			if err != nil {
				b.Fatal(err)
			}
			defer bare.Close()
			if err := product.SetDeadline(time.Time{}); err != nil {
				b.Fatal(err)
			}
			turn := max(64<<20/len(frame), 1)
			var ratios []float64
			var took time.Duration
			turns := 0
			b.SetBytes(int64(turn * len(frame)))
			for b.Loop() {
				begin := time.Now()
				pump(b, bare, frame, turn)
				limit := time.Since(begin)
				begin = time.Now()
				pump(b, product, frame, turn)
				own := time.Since(begin)
				took += own
				ratios = append(ratios, limit.Seconds()/own.Seconds())
				turns++
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
			b.ReportMetric(float64(turn*len(frame)*turns)/took.Seconds()/1e6, "MB/s-own")
		})
	}
}
