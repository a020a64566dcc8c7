package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	gomodule "golang.org/x/mod/module"
)

// writeProxy writes the modules of the commit HEAD as GOPROXY=file://OUT reads them. A go.sum that has another hash of
// any of them is an error: it would refuse the modules of the tags.
func writeProxy(root, version, out string) error {
	for _, dir := range released {
		if err := serve(root, dir, version, out); err != nil {
			return err
		}
	}
	return nil
}

func serve(root, dir, version, out string) error {
	p, err := pack(root, "HEAD", dir, version)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(p.zip) }()
	sum, err := p.sum(dir, version)
	if err != nil {
		return err
	}
	if err := checkSums(root, dir, sum); err != nil {
		return err
	}
	return p.write(root, dir, version, out)
}

// checkSums compares the lines of a module with those in go.sum of the modules after it.
func checkSums(root, dir, sum string) error {
	for _, user := range released {
		if user == "" {
			continue
		}
		data, err := git(root, "show", "HEAD:"+user+"/go.sum")
		if err != nil {
			return err
		}
		mod, err := git(root, "show", "HEAD:"+user+"/go.mod")
		if err != nil {
			return err
		}
		if strings.Contains(mod, "\nreplace ") {
			return fmt.Errorf("go.mod of %s has a replace", user)
		}
		requires := strings.Contains(mod, "\t"+pathOf(dir)+" v") || strings.Contains(mod, "require "+pathOf(dir)+" v")
		for line := range strings.Lines(sum) {
			if requires && !strings.Contains(data+"\n", line) {
				return fmt.Errorf("go.sum of %s lacks %s", user, strings.TrimSpace(line))
			}
		}
	}
	return nil
}

func (p packed) write(root, dir, version, out string) error {
	escaped, err := gomodule.EscapePath(pathOf(dir))
	if err != nil {
		return err
	}
	seconds, err := git(root, "show", "--no-patch", "--format=%cI", "HEAD")
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]string{"Version": version, "Time": seconds})
	if err != nil {
		return err
	}
	packed, err := os.ReadFile(p.zip)
	if err != nil {
		return err
	}
	to := filepath.Join(out, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".info": info, version + ".mod": p.mod, version + ".zip": packed,
	} {
		if err := os.WriteFile(filepath.Join(to, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
