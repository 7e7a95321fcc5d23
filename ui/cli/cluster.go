package cli

import (
	"net"
	"strings"
)

// ClusterOptions says how to open a cluster.
type ClusterOptions struct {
	DirOptions
	Access Access
}

// brokers returns the addresses that a SOURCE names; ok is false where it names none: HOST:PORT, several with commas.
func brokers(word string) (addrs []string, ok bool) {
	for a := range strings.SplitSeq(word, ",") {
		host, port, err := net.SplitHostPort(strings.TrimSpace(a))
		if err != nil || host == "" || port == "" || strings.ContainsAny(a, "/\\") || strings.Trim(port, "0123456789") != "" {
			return nil, false
		}
		addrs = append(addrs, net.JoinHostPort(host, port))
	}
	return addrs, true
}
