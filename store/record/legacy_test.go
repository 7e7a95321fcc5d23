package record

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
)

// message is a legacy entry to be written, as brokers of old wrote it.
type message struct {
	magic      int8
	offset     int64
	attributes byte
	timestamp  int64
	key, value []byte
}

func appendMessage(dst []byte, m message) []byte {
	begin := len(dst)
	dst = AppendHeader(dst, Header{BaseOffset: m.offset, Magic: m.magic, Attributes: int16(m.attributes), MaxTimestamp: m.timestamp})
	for _, part := range [][]byte{m.key, m.value} {
		if part == nil {
			dst = binary.BigEndian.AppendUint32(dst, 0xffffffff)
			continue
		}
		dst = append(binary.BigEndian.AppendUint32(dst, uint32(len(part))), part...)
	}
	b := dst[begin:]
	binary.BigEndian.PutUint32(b[posLength:], uint32(len(b)-lengthEnd))
	binary.BigEndian.PutUint32(b[legacyCRC:], crc32.ChecksumIEEE(b[posMagic:]))
	return dst
}

// wrapper writes a compressed legacy entry around inner messages.
func wrapper(t testing.TB, m message, c Codec, inner ...message) []byte {
	t.Helper()
	var set []byte
	for _, in := range inner {
		set = appendMessage(set, in)
	}
	value, err := Compress(nil, c, 0, set)
	if err != nil {
		t.Fatal(err)
	}
	m.attributes |= byte(c)
	m.value = value
	return appendMessage(nil, m)
}

// five makes messages with inner offsets from the first one on.
func five(magic int8, first int64) (all []message) {
	for i := range int64(5) {
		all = append(all, message{magic: magic, offset: first + i, timestamp: goldenTime + i, key: []byte{byte('a' + i)}, value: []byte("v")})
	}
	return all
}

func TestLegacyOffsetsAndTimes(t *testing.T) {
	plain := func() (lines []string) {
		for _, m := range five(1, 0) {
			got, err := walk(t, appendMessage(nil, m))
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, got...)
		}
		return lines
	}
	times := func(offset, ts, step int64) (lines []string) {
		for i := range int64(5) {
			lines = append(lines, fmt.Sprintf("%d %d %q=\"v\"", offset+i, ts+i*step, string(rune('a'+i))))
		}
		return lines
	}
	if got, want := plain(), times(0, goldenTime, 1); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("five plain messages: %q", got)
	}
	for name, tc := range map[string]struct {
		entry []byte
		want  []string
	}{
		"gzip wrapper, relative offsets": {
			wrapper(t, message{magic: 1, offset: 9, timestamp: goldenTime + 4}, Gzip, five(1, 0)...),
			times(5, goldenTime, 1)},
		"append time of the wrapper": {
			wrapper(t, message{magic: 1, offset: 9, timestamp: goldenTime + 99, attributes: attrLogAppendTime}, Snappy, five(1, 0)...),
			times(5, goldenTime+99, 0)},
		"relative offsets with a gap": {
			wrapper(t, message{magic: 1, offset: 20, timestamp: goldenTime + 4}, Lz4, five(1, 7)...),
			times(16, goldenTime, 1)},
		"wrapper at 0 by old librdkafka": {
			wrapper(t, message{magic: 1, offset: 0, timestamp: goldenTime + 4}, Gzip, five(1, 0)...),
			times(0, goldenTime, 1)},
		"magic 0, absolute offsets": {
			wrapper(t, message{magic: 0, offset: 104}, Gzip, five(0, 100)...),
			times(100, -1, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := walk(t, tc.entry)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			h, err := ParseHeader(tc.entry)
			if err != nil || !h.Wrapper() || h.Count != -1 || h.HasProducer() {
				t.Errorf("header %+v, %v", h, err)
			}
			if first, n, err := LegacyFirst(tc.entry); n != 5 || err != nil || !strings.HasPrefix(tc.want[0], fmt.Sprint(first, " ")) {
				t.Errorf("first %d, count %d, %v", first, n, err)
			}
			if stored, computed := Checksum(tc.entry); stored != computed {
				t.Errorf("CRC %08x, computed %08x", stored, computed)
			}
		})
	}
}

func TestGoldenGzipWrapper(t *testing.T) {
	entry := unhex(t, goldenGzipV1)
	got, err := walk(t, entry)
	if err != nil || len(got) != 3 || !strings.HasPrefix(got[0], "50 ") || !strings.HasPrefix(got[2], "52 ") {
		t.Errorf("got %q, %v", got, err)
	}
	if h, err := ParseHeader(entry); err != nil || h.LastOffset() != 52 || h.NextOffset() != 53 {
		t.Errorf("header %+v, %v", h, err)
	}
}

func TestLegacyDamage(t *testing.T) {
	whole := wrapper(t, message{magic: 1, offset: 9, timestamp: goldenTime}, None)
	tail := five(1, 0)
	for name, tc := range map[string]struct {
		entry []byte
		want  string // in the error; "" for none
		n     int
	}{
		"inner offset beyond the wrapper's": {wrapper(t, message{magic: 1, offset: 3}, Gzip, five(1, 0)...), "inner offset", 0},
		"no inner message":                  {wrapper(t, message{magic: 1, offset: 9}, Gzip), "inner messages", 0},
		"wrapper in a wrapper": {wrapper(t, message{magic: 1, offset: 9}, Gzip,
			message{magic: 1, attributes: byte(Gzip), value: []byte{}}), "compressed message inside", 0},
		"mixed magic":          {wrapper(t, message{magic: 1, offset: 9}, Gzip, append(tail, message{magic: 0, offset: 5})...), "magic", 0},
		"null wrapper value":   {appendMessage(nil, message{magic: 1, attributes: byte(Gzip)}), "null", 0},
		"zstd in magic 1":      {wrapper(t, message{magic: 1, offset: 9}, Zstd, tail...), "zstd", 0},
		"bytes behind value":   {lengthen(whole), "behind", 0},
		"inner set cut behind": {cutInner(t, 5), "", 4},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := walk(t, tc.entry)
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if len(got) != tc.n {
				t.Errorf("%d messages, want %d", len(got), tc.n)
			}
		})
	}
}

// lengthen puts a byte into the entry that no field owns.
func lengthen(entry []byte) []byte {
	b := append(append([]byte(nil), entry...), 0)
	binary.BigEndian.PutUint32(b[posLength:], uint32(len(b)-lengthEnd))
	return b
}

// cutInner makes a wrapper of five messages whose last one lacks n bytes.
func cutInner(t testing.TB, n int) []byte {
	t.Helper()
	var set []byte
	for _, m := range five(1, 0) {
		set = appendMessage(set, m)
	}
	value, err := Compress(nil, Gzip, 0, set[:len(set)-n])
	if err != nil {
		t.Fatal(err)
	}
	return appendMessage(nil, message{magic: 1, offset: 3, attributes: byte(Gzip), value: value})
}

func TestLz4WithTheHeaderChecksumOfOldWriters(t *testing.T) {
	entry := wrapper(t, message{magic: 0, offset: 104}, Lz4, five(0, 100)...)
	at := len(entry)
	for i := range entry {
		if i+4 <= len(entry) && binary.LittleEndian.Uint32(entry[i:]) == lz4Magic {
			at = i + 6
			break
		}
	}
	entry[at] = 0x1a
	if got, err := walk(t, entry); err != nil || len(got) != 5 {
		t.Errorf("%d messages, %v", len(got), err)
	}
	frame := unhex(t, goldenLz4)
	frame[HeaderSize+6] = 0x1a
	if _, err := walk(t, frame); err == nil || !strings.Contains(err.Error(), "header checksum") {
		t.Errorf("magic 2 takes a wrong header checksum: %v", err)
	}
}
