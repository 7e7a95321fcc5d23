package segment

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/strata-kafka/strata/model"
	"github.com/strata-kafka/strata/store/layout"
	"github.com/strata-kafka/strata/store/record"
)

const (
	// seekBuffer is what a lookup reads at once: an index interval, and a batch of the usual size behind it.
	seekBuffer = 24 << 10
	// smallIndex is up to which size an index is checked whole before a lookup believes it.
	smallIndex = 64 << 10
	// holeLook is how far a lookup that met a hole at the beginning of a segment looks for offsets out of order.
	holeLook = 64
)

// File is a segment opened for reading by one request: it opens, reads and closes. It is not safe for concurrent use.
type File struct {
	Base int64
	Log  *os.File
	Size int64 // of the .log when it was opened
	// Floor, when set, knows a byte at which a batch begins that is not beyond an offset, or says 0. It is asked where
	// there is no offset index.
	Floor func(offset int64) int64

	dir, suffix string
	offsets     *OffsetIndex
	times       *TimeIndex
	open        []*os.File
}

// OpenFile opens the .log of a segment in a partition's folder; suffix is "", or layout's word for what a leftover is.
// Indexes are opened when they are asked for.
func OpenFile(dir string, base int64, suffix string) (*File, error) {
	f := &File{Base: base, dir: dir, suffix: suffix}
	var err error
	if f.Log, f.Size, err = openRegular(f.Path(layout.KindLog)); err != nil {
		return nil, fmt.Errorf("open segment: %w", err)
	}
	return f, nil
}

// Path returns the path of one of the segment's files.
func (f *File) Path(kind string) string {
	name := layout.File{Base: f.Base, Epoch: -1, Kind: kind, Suffix: f.suffix}
	return filepath.Join(f.dir, name.String())
}

// Name returns the base name of one of the segment's files.
func (f *File) Name(kind string) string { return filepath.Base(f.Path(kind)) }

// Close closes all that was opened. Nothing was written, so nothing can be lost by an error.
func (f *File) Close() {
	for _, o := range f.open {
		_ = o.Close()
	}
	_ = f.Log.Close()
}

// Scanner returns a Scanner of the .log, from its first byte on.
func (f *File) Scanner(o ScanOptions) *Scanner { return NewScanner(f.Log, f.Size, o) }

func (f *File) openIndex(kind string) (*os.File, int64, error) {
	o, size, err := openRegular(f.Path(kind))
	if err != nil {
		return nil, 0, fmt.Errorf("open index: %w", err)
	}
	f.open = append(f.open, o)
	return o, size, nil
}

// Offsets returns the offset index. An error says that there is none; it is fs.ErrNotExist when the file is missing.
func (f *File) Offsets() (*OffsetIndex, error) {
	if f.offsets == nil {
		o, size, err := f.openIndex(layout.KindIndex)
		if err != nil {
			return nil, err
		}
		f.offsets = NewOffsetIndex(o, size, f.Base)
	}
	return f.offsets, nil
}

// Times returns the time index, as Offsets does.
func (f *File) Times() (*TimeIndex, error) {
	if f.times == nil {
		o, size, err := f.openIndex(layout.KindTimeIndex)
		if err != nil {
			return nil, err
		}
		f.times = NewTimeIndex(o, size, f.Base)
	}
	return f.times, nil
}

// maxTxnIndex is the largest .txnindex that is read, in bytes: a million aborted transactions.
const maxTxnIndex = 34 << 20

// Aborted returns the aborted transactions whose markers the segment holds. fs.ErrNotExist says that there is no file,
// which is as it should be where nothing was aborted. With any other error come the entries that could be read.
func (f *File) Aborted() ([]AbortedTxn, error) {
	path := f.Path(layout.KindTxnIndex)
	b, err := ReadRegular(path, maxTxnIndex)
	if err != nil {
		return nil, err
	}
	list, err := ParseTxnIndex(b)
	if err != nil {
		return list, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

// fault makes a fault of one of the segment's files.
func (f *File) fault(kind string, pos, offset int64, word, what string, s model.Severity) model.Fault {
	return model.Fault{File: f.Name(kind), Position: pos, Offset: offset, Kind: word, What: what, Severity: s}
}

// indexFault says that an entry of an index is not believed, so that the log is read instead.
func (f *File) indexFault(kind string, pos, offset int64, what string) model.Fault {
	t := f.fault(kind, pos, offset, kind, what, model.SevWarning)
	t.Follows = "lookups read the log instead"
	return t
}

// Header reads the header of the batch at a byte. The error is a *record.FormatError or record.ErrShort where there is
// none.
func (f *File) Header(pos int64) (record.Header, error) {
	var b [record.HeaderSize]byte
	n, err := f.Log.ReadAt(b[:], pos)
	if err != nil && !errors.Is(err, io.EOF) {
		return record.Header{}, fmt.Errorf("read header: %w", err)
	}
	return record.ParseHeader(b[:n])
}

// maxEdges is the largest batch that is read to hold an index entry against its records, in bytes.
const maxEdges = 64 << 20

// EntryFault returns what is wrong with entry i of the offset index: with its neighbours, or with the batch it leads to.
func (f *File) EntryFault(x *OffsetIndex, i int64) error { return f.entryFault(x, i, f.Header) }

// entryFault is EntryFault with a way to read headers.
func (f *File) entryFault(x *OffsetIndex, i int64, header func(pos int64) (record.Header, error)) error {
	if err := x.Sound(i, f.Size); err != nil {
		return err
	}
	o, pos, ok := x.At(i)
	if !ok {
		return errors.New("the entry cannot be read")
	}
	h, err := header(pos)
	if err != nil || h.BaseOffset < 0 || h.LastOffset() < h.BaseOffset {
		return fmt.Errorf("no batch at %d", pos)
	}
	if h.LastOffset() > o && (h.Wrapper() || h.BaseOffset != o) {
		if first, last := f.edges(pos, h); o != first && o != last {
			return fmt.Errorf("index says %d, batch at %d ends at %d", o, pos, h.LastOffset())
		}
	}
	return nil
}

// edges returns the offsets that an index entry of the batch at a byte may have below its last offset: the first one, as
// brokers before 2.0 wrote it, and that of the last record which compaction has left. The batch is read for that;
// model.Unknown stands for what cannot be told.
func (f *File) edges(pos int64, h record.Header) (first, last int64) {
	first, last = h.BaseOffset, model.Unknown
	if h.Wrapper() {
		first = model.Unknown
	}
	if h.Size() > maxEdges {
		return first, last
	}
	b := make([]byte, h.Size())
	if _, err := f.Log.ReadAt(b, pos); err != nil {
		return first, last
	}
	r := record.Borrow()
	defer r.Return()
	if err := r.Reset(b); err != nil {
		return first, last
	}
	for r.Next() {
		last = r.Record().Offset
		if first == model.Unknown {
			first = last
		}
	}
	return first, last
}

// lastLeft is the second of edges.
func (f *File) lastLeft(pos int64, h record.Header) int64 {
	_, last := f.edges(pos, h)
	return last
}

// missing tells a file that is not there from one that cannot be read.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
