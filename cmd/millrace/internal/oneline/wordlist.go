package oneline

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/actions"
)

// wordList reads the texts to replace and their replacements from a file. By its name, it is CSV, TSV, or JSON or YAML
// with an object of old to new texts or a list of pairs. Otherwise each line is a pair, separated by a tab, ==> or =.
func (w Where) wordList(file string) ([]actions.TextEdit, error) {
	data, err := w.read(file)
	if err != nil {
		return nil, err
	}
	var pairs [][]string
	switch strings.ToLower(path.Ext(w.slashes(file))) {
	case ".csv", ".tsv":
		r := csv.NewReader(bytes.NewReader(data))
		if strings.HasSuffix(strings.ToLower(file), ".tsv") {
			r.Comma = '\t'
		}
		pairs, err = r.ReadAll()
	case ".json":
		pairs, err = jsonPairs(data)
	case ".yaml", ".yml":
		pairs, err = yamlPairs(data)
	default:
		for _, line := range list(data, false) {
			pair := []string{line}
			for _, between := range []string{"\t", "==>", "="} {
				if old, becomes, ok := strings.Cut(line, between); ok {
					pair = []string{old, becomes}
					break
				}
			}
			pairs = append(pairs, pair)
		}
	}
	if err != nil {
		return nil, usage("", "'%s': %v", shown(file), err)
	}
	edits := make([]actions.TextEdit, len(pairs))
	for i, pair := range pairs {
		if len(pair) != 2 || pair[0] == "" {
			return nil, usage("write OLD, a tab and NEW in each line", "'%s': entry %d is not an old and a new text",
				shown(file), i+1)
		}
		edits[i] = actions.TextEdit{OldText: pair[0], NewText: pair[1]}
	}
	if len(edits) == 0 {
		return nil, usage("", "'%s' has no texts to replace", shown(file))
	}
	return edits, nil
}

// anyOf returns the regular expression that matches any of the old texts.
func anyOf(edits []actions.TextEdit) string {
	texts := make([]string, len(edits))
	for i, e := range edits {
		texts[i] = regexp.QuoteMeta(e.OldText)
	}
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return strings.Join(slices.Compact(texts), "|")
}
