package partition

import "github.com/strata-kafka/strata/model"

// Active returns the base offset of the segment that is written to, and its size when the view was made; model.Unknown
// where there is none. Segments before it change by compaction and deletion only.
func (v *View) Active() (base, size int64) {
	if len(v.layers) == 0 {
		return model.Unknown, 0
	}
	l := v.layers[len(v.layers)-1]
	return l.base, l.size
}
