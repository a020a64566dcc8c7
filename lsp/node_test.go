package lsp_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// checkByNode applies the edits with the JavaScript library of language servers and clients. The library is installed
// from its lock file. Where npm cannot install it, the check is skipped.
func checkByNode(t *testing.T, samples []sample) {
	t.Helper()
	t.Run("node", func(t *testing.T) {
		if testing.Short() {
			t.Skip("-short: npm is not asked for a package")
		}
		for _, program := range []string{"node", "npm"} {
			if _, err := exec.LookPath(program); err != nil {
				t.Skipf("%s is not installed: the edits are applied by the applier of this test alone", program)
			}
		}
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "clients"))); err != nil {
			t.Fatal(err)
		}
		npm := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline",
			"--fetch-retries=1", "--fetch-timeout=20000") // fail soon without a network
		npm.Dir = dir
		if out, err := npm.CombinedOutput(); err != nil {
			t.Skipf("npm cannot install vscode-languageserver-textdocument: %v\n%s", err, out)
		}
		data, err := json.Marshal(struct {
			Root    string
			Samples []sample
		}{root, samples})
		if err != nil {
			t.Fatal(err)
		}
		node := exec.CommandContext(t.Context(), "node", "apply.mjs")
		node.Dir, node.Stdin = dir, bytes.NewReader(data)
		out, err := node.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var checked struct{ Checked, Texts int }
		if err := json.Unmarshal(out, &checked); err != nil || checked.Checked != len(samples) || checked.Texts == 0 {
			t.Fatalf("%v: of %d samples:\n%s", err, len(samples), out)
		}
		t.Logf("%d edits of %d texts", checked.Checked, checked.Texts)
	})
}
