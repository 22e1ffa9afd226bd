package sharebundle

// Record returns the signed content of a bundle.
func Record(b Bundle) []byte {
	data, _ := (&signed{b}).MarshalRecord()
	return data
}

// ParseRecord is the inverse of Record.
func ParseRecord(data []byte) (Bundle, error) {
	var s signed
	err := s.UnmarshalRecord(data)
	return s.Bundle, err
}
