package rundir

// Answers returns what was answered to the steps of a run, as far as that is on record.
func (s *Store) Answers(number int64) (outputs []string, err error) {
	l, err := s.load(number)
	if err != nil {
		return nil, err
	}
	data := &lazyData{layout: s.layout, number: number}
	defer data.Close()
	for _, v := range l.answers {
		var a struct{ Output string }
		if err := v.decode(data, &a); err != nil {
			return nil, err
		}
		outputs = append(outputs, a.Output)
	}
	return outputs, nil
}
