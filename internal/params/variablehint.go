package params

// VariableHint returns the hint for an unknown field in the declaration of a variable: our word for a word of other
// programs, otherwise a hint about the usual mistake.
func VariableHint(key string) string {
	switch key {
	case "required", "optional":
		return `leave it out, because a variable without "default" needs a value`
	case "value":
		return `write "default"`
	case "values", "choices", "options":
		return `write "enum"`
	}
	return `an object that is a value stands in "default"`
}
