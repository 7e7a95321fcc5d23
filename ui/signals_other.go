//go:build !unix

package ui

import "os"

func endSignals() []os.Signal  { return []os.Signal{os.Interrupt} }
func stopSignals() []os.Signal { return nil }
func stopGroup()               {}
