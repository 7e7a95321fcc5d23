package record

// MaxFields is the most fields that Fields gives.
const MaxFields = 4096

// Field is a piece of a batch, for a view of its bytes.
type Field struct {
	Name  string // "base offset"; of records "record 3 key"
	Pos   int    // byte within the batch
	Len   int    // bytes
	Value string // as a person reads it; keys and values are not shown
	Note  string // what is remarkable, or ""
}

// Fields lays out a whole batch of any magic: the header, then the records if
// they are not compressed, up to MaxFields or to the first damage. What is
// missing of the batch is left out.
func Fields(batch []byte) []Field { return layout(batch) }
