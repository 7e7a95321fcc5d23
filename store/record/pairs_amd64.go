package record

// stopCost is how many bytes findPair looks at while the other way of search
// makes a stop.
const stopCost = 300

// findPair gives the least i with x[i]|ma == a and y[i]|mb == b, or -1. Each
// byte to be compared stands eight times in its word. It looks only at as many
// places as the shorter slice has, rounded down to 16.
//
//go:noescape
func findPair(x, y []byte, a, b, ma, mb uint64) int
