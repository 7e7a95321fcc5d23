package wire

import (
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/strata-kafka/strata/store/partition"
)

const (
	// copied is up to how many bytes records are read and written, not sent from the file.
	copied = 64 << 10
	// crowded is how many bytes are copied at once when others hold as much as maxCopying.
	crowded = 8 << 10
	// maxCopying bounds the memory of those who copy, but for crowded bytes each.
	maxCopying = 16 << 20
)

// slice writes the records of a slice.
func (w *sink) slice(p *partition.Slice) error {
	if p.Size <= copied || !canSend(w.c.nc) {
		return w.copySlice(p)
	}
	return w.direct(int(p.Size), func(nc net.Conn) error { return sendFile(w.c, nc, p) })
}

// copySlice reads a slice in pieces, and writes them.
func (w *sink) copySlice(p *partition.Slice) error {
	s, piece := w.c.s, min(copied, p.Size)
	if s.copying.Add(piece) > maxCopying {
		s.copying.Add(-piece)
		piece = min(crowded, piece)
		s.copying.Add(piece)
	}
	defer s.copying.Add(-piece)
	b := s.pool.get(int(piece))
	defer s.pool.put(b)
	for off := int64(0); off < p.Size; {
		buf := (*b)[:min(piece, p.Size-off)]
		n, err := p.ReadAt(buf, off)
		if n < len(buf) {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("%w: read records: %w", errClose, err)
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		off += int64(n)
	}
	return nil
}
