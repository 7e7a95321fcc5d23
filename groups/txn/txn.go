// Package txn is the transaction coordinator of the embedded broker: it hands out producer ids, and carries
// transactions to their end.
package txn

// Coordinator coordinates transactions. Its methods may be called from any goroutine.
type Coordinator struct{}

// New returns a Coordinator.
func New() *Coordinator { return &Coordinator{} }
