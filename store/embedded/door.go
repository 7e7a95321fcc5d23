package embedded

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/strata-kafka/strata/store/wire"
)

// doorFile is the name of the door's socket in the first log directory.
const doorFile = "strata.door"

// door is a second way in, beside a listener that asks clients who they are: a socket that no other user may open, by which
// the same user's commands attach.
type door struct {
	server *wire.Server
	dir    string // made for the socket, where the data directory's path is too long for one; "" for none
}

// openDoor opens the door where security asks anything of clients. That it cannot be opened is told, and costs no client
// anything.
func (b *Broker) openDoor(s Security, served wire.Broker, wo wire.Options) {
	if !s.Safe() && s.ClientCA == "" {
		return
	}
	path := filepath.Join(b.Dirs()[0], doorFile)
	_ = os.Remove(path) // the lock is ours: whoever has left it there is dead
	ln, err := net.Listen("unix", path)
	if err != nil {
		if b.door.dir, err = os.MkdirTemp("", "strata-"); err == nil {
			path = filepath.Join(b.door.dir, "door")
			ln, err = net.Listen("unix", path)
		}
	}
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err == nil {
		err = b.SetDoor(path)
	}
	if err != nil {
		if ln != nil {
			_ = ln.Close() // nobody has come in yet
		}
		b.told = append(b.told, fmt.Sprintf("other commands on this directory cannot attach: %v", err))
		return
	}
	wo.TLS, wo.SASL = nil, nil
	if wo.Advertised == "" {
		wo.Advertised = b.server.Address()
	}
	b.door.server = wire.Serve(ln, served, wo)
}

// close closes the door.
func (d *door) close() error {
	var err error
	if d.server != nil {
		err = d.server.Close()
	}
	if d.dir != "" {
		err = errors.Join(err, os.RemoveAll(d.dir))
	}
	return err
}
