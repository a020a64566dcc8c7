package condition

var (
	ErrNoStep  = errNoStep
	ErrValue   = errValue
	ParseValue = parseValue
)
