//go:build !linux

package wire

import (
	"net"

	"github.com/strata-kafka/strata/store/partition"
)

// canSend reports whether files can be sent to a connection: not here.
func canSend(net.Conn) bool { return false }

func sendFile(*conn, net.Conn, *partition.Slice) error { return errClose }
