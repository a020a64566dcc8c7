package guard_test

import (
	"fmt"

	"github.com/millrace-go/millrace/internal/guard"
)

// A Policy is checked before use: an invalid glob would match every path.
func ExamplePolicy_Validate() {
	policy := guard.Policy{Denied: []string{".env", "*.key", "[a-"}}
	fmt.Println(policy.Validate())
	// Output:
	// glob "[a-": not a valid glob
}
