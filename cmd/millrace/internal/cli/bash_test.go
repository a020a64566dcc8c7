package cli_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestCompletion_bash calls the script for bash as bash does, which splits a word at "=".
func TestCompletion_bash(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"sub/a.txt": "", "sum.txt": ""})
	const ask = `bash -c '
		source <(millrace completion bash)
		_get_comp_words_by_ref() { read -ra words <<<"$COMP_LINE"; cword=$((${#words[@]}-1)); cur=${words[cword]}; }
		COMP_LINE="millrace do $1" COMP_POINT=$((12+${#1})) COMP_TYPE=9
		__millrace_values 2>/dev/null
		echo "${COMPREPLY[@]}"' bash `
	for line, want := range map[string]string{
		"edit files=su":        "sub/ sum.txt",
		"edit files=sub/":      "sub/a.txt",
		"edit mode=l":          "literal",
		"edit old_te":          "old_text=",
		"pattern_":             "pattern_replace",
		"search a=b then sear": "search",
	} {
		if got := strings.TrimSpace(shell(t, dir, ask+"'"+line+"'")); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
