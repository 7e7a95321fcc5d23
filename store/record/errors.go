package record

import (
	"errors"
	"fmt"
)

// ErrShort says that bytes are missing: the end of a growing file, or a cut
// batch. What is there may still be right.
var ErrShort = errors.New("batch is not complete")

// ErrTooLarge says that a batch would inflate beyond the limit.
var ErrTooLarge = errors.New("inflates beyond the limit")

// ErrCodec says that a batch names a codec that does not exist.
var ErrCodec = errors.New("unknown codec")

// FormatError is damage at a known place of a batch.
type FormatError struct {
	// Pos is the byte within the batch; within the decompressed records
	// section if Inflated.
	Pos      int
	Inflated bool
	Field    string // which field is wrong: "record count"
	What     string // what is wrong with it: "2000000000, but 9 bytes are left"
	Err      error  // what a decompressor said, or nil
}

func (e *FormatError) Error() string {
	place := "byte"
	if e.Inflated {
		place = "inflated byte"
	}
	s := fmt.Sprintf("%s at %s %d", e.Field, place, e.Pos)
	if e.What != "" {
		s += ": " + e.What
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the cause, if there is one.
func (e *FormatError) Unwrap() error { return e.Err }
