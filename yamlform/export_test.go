package yamlform

const (
	MaxMarks  = maxMarks
	MaxValues = maxValues
)
