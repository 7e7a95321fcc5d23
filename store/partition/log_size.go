package partition

// Size returns how many bytes the log's records take: of all its .log files, without what a file has ahead of its records.
func (l *Log) Size() (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.list(); err != nil {
		return 0, err
	}
	size := int64(0)
	for _, p := range l.segs[:len(l.segs)-1] {
		size += p.size
	}
	if l.active != nil {
		return size + l.active.Size(), nil
	}
	return size + l.segs[len(l.segs)-1].size, nil
}
