package interpolate

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/structural"
	"github.com/millrace-go/millrace/internal/template"
)

// expandStructure replaces the templates of a structural pattern, or of its replacement, by their values. A value does
// not begin a hole, not even together with the text around it. In the expression of a hole it is quoted as an
// expression.
func expandStructure(text template.Text, values template.Values) (string, error) {
	own, list, err := pieces(text, values)
	if err != nil {
		return "", err
	}
	open, colon := "", false // the hole whose expression is not closed, and whether the text ends in a colon
	for i, value := range list {
		if open = structural.OpenExpression(open + own[i]); len(open) > 2*structural.MaxExpression {
			open = "" // too long
		}
		if open != "" {
			list[i] = quoted(value)
			open += list[i]
			continue
		}
		colon = strings.HasSuffix(own[i], ":") || own[i] == "" && colon
		list[i] = strings.ReplaceAll(value, ":[", "::[")
		if colon && strings.HasPrefix(value, "[") {
			list[i] = ":" + list[i]
		}
		colon = strings.HasSuffix(value, ":") || value == "" && colon
		switch {
		case colon && strings.HasPrefix(own[i+1], "["):
			list[i] += ":"
		case colon && value != "" && strings.HasPrefix(own[i+1], ":["):
			last := value[max(0, len(value)-20):]
			return "", fmt.Errorf("the value ends in %s, and a hole follows: write a blank between them",
				strconv.Quote(last))
		}
	}
	return expandTo(text, values, list)
}
