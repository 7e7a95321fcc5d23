//go:build !unix

package wire

import "net"

// hasGone reports whether a client has closed its end, as far as that can be told here: never.
func hasGone(net.Conn) bool { return false }
