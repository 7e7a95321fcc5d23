//go:build !linux

package embedded

// whose would find out which process serves an address; here that cannot be known.
func whose(address string) *TakenError { return &TakenError{Address: address} }
