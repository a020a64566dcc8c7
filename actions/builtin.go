package actions

// Builtin returns the actions that millrace brings. Add your own with [Registry.With].
func Builtin() Registry {
	return Registry{}.With(
		Search{}, List{}, ReadRanges{},
		Edit{}, MultiEdit{}, CountOccurrences{}, RegexTransform{}, EditFiles{}, PatternReplace{},
		Create{}, Copy{}, Rename{}, Delete{},
		Aggregate{}, Diff{}, Merge{},
	)
}
