package record

func layout(batch []byte) []Field {
	return nil
}
