package actions

// Builtin returns the twelve actions of seed 000 (S0.12). Add your own with [Registry.With].
func Builtin() Registry {
	return Registry{}.With(
		Search{}, ReadRanges{},
		Edit{}, MultiEdit{}, CountOccurrences{}, RegexTransform{},
		Copy{}, Rename{}, Delete{},
		Aggregate{}, Diff{}, Merge{},
	)
}
