package store

// DirUsage says how full the file system of a data directory is.
type DirUsage struct {
	Path   string
	Total  int64 // bytes; -1 where the system does not say
	Usable int64 // bytes left for us; -1 likewise
	Err    error // why it cannot be asked
}

// Usage returns how full the data directories are, in their order.
func (e *Engine) Usage() []DirUsage {
	var list []DirUsage
	for _, d := range e.dirs {
		u := DirUsage{Path: d.path}
		u.Total, u.Usable, u.Err = usage(d.path)
		list = append(list, u)
	}
	return list
}
