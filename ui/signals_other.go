//go:build !unix

package ui

import tea "github.com/charmbracelet/bubbletea"

// watchSignals has nothing to watch where there are no such signals.
func watchSignals(*root, *tea.Program) (stop func()) { return func() {} }
