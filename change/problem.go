package change

// Problem is one path and what is wrong there, such as that it is not what a plan expects.
type Problem struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// String returns the path and the reason.
func (p Problem) String() string { return p.Path + ": " + p.Reason }
