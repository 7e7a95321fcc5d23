//go:build unix

package profile

import "os"

// othersMayRead reports whether a file can be read by users other than its owner.
func othersMayRead(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().Perm()&0o044 != 0
}
