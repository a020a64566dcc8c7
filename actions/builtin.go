package actions

// Builtin returns the actions of seed 000 (S0.12) and those that came later. Add your own with [Registry.With].
func Builtin() Registry {
	return Registry{}.With(
		Search{}, List{}, ReadRanges{},
		Edit{}, MultiEdit{}, CountOccurrences{}, RegexTransform{}, EditFiles{}, PatternReplace{},
		Create{}, Copy{}, Rename{}, Delete{},
		Aggregate{}, Diff{}, Merge{},
	)
}
