package gittrees

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fleetlimits"
	"github.com/millrace-go/millrace/internal/show"
)

var (
	authorForm = regexp.MustCompile(`^([^<>\x00-\x1f]*[^<>\x00-\x20])\s*<([^<>\s\x00-\x1f]+)>$`)
	cloneForm  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*-[0-9a-f]{12}$`)
	scpForm    = regexp.MustCompile(`^([A-Za-z0-9_.][A-Za-z0-9_.+-]*@)?([A-Za-z0-9.][A-Za-z0-9.-]*):([^:\\-][^:\\]*)$`)
	notInName  = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
)

// Clones are the repositories of addresses as targets of [Trees] with a CloneTo. The id of a target is the address, the
// root is the name of the clone. Two equal addresses are one target. An address that is not allowed ends the targets
// with a *[fleet.TargetError]. It is not allowed if git could read it as an option or run a program for it, if it has a
// password, which every report would show, or if its transport is not https, ssh, http, git or file. A path of this
// system must be absolute.
func Clones(urls ...string) iter.Seq2[fleet.Target, error] {
	return func(yield func(fleet.Target, error) bool) {
		known := make(map[string]bool)
		for _, address := range urls {
			if known[address] {
				continue
			}
			known[address] = true
			if err := checkURL(address); err != nil {
				yield(fleet.Target{}, err)
				return
			}
			t := fleet.Target{ID: address, Root: cloneName(address), Labels: map[string]string{urlLabel: address}}
			if !yield(t, nil) {
				return
			}
		}
	}
}

// cloneName returns the name of the directory of a clone. No two addresses have the same name.
func cloneName(address string) string {
	last := strings.TrimSuffix(path.Base(strings.TrimRight(filepath.ToSlash(address), "/")), ".git")
	if i := strings.LastIndexByte(last, ':'); i >= 0 {
		last = last[i+1:]
	}
	last = strings.TrimLeft(notInName.ReplaceAllString(last, "_"), ".-")
	if last == "" {
		last = "repository"
	}
	sum := sha256.Sum256([]byte(address))
	return last[:min(len(last), 60)] + "-" + hex.EncodeToString(sum[:6])
}

// checkURL returns a *[fleet.TargetError] for an address that is not allowed.
func checkURL(address string) error {
	reason := ""
	switch {
	case address == "":
		reason = "the address is empty"
	case strings.HasPrefix(address, "-"):
		reason = "the address begins with -"
	case strings.ContainsFunc(address, unicode.IsControl), strings.ContainsFunc(address, unicode.IsSpace):
		reason = "the address has control characters or blanks"
	case strings.Contains(address, "::"):
		reason = "an address with :: names a program"
	case strings.Contains(address, "://"):
		reason = wrongURL(address)
	case filepath.IsAbs(address), scpForm.MatchString(address):
	default:
		reason = "the address is neither a URL, nor host:path, nor an absolute path"
	}
	if reason == "" {
		return nil
	}
	return &fleet.TargetError{ID: show.Within(withoutPassword(address), 100), Reason: reason}
}

// withoutPassword returns an address with its password hidden.
func withoutPassword(address string) string {
	before, rest, ok := strings.Cut(address, "://")
	if at := strings.LastIndexByte(rest, '@'); ok && at >= 0 {
		return before + "://***" + rest[at:]
	}
	return address
}

// wrongURL returns the reason why a URL is not allowed, "" for an allowed URL.
func wrongURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the address is not a URL"
	}
	_, secret := u.User.Password()
	switch scheme := strings.ToLower(u.Scheme); {
	case scheme != "https" && scheme != "ssh" && scheme != "http" && scheme != "git" && scheme != "file":
		return fmt.Sprintf("the transport %q is not allowed: https, ssh, http, git and file are",
			show.Within(u.Scheme, 20))
	case secret:
		return "the address has a password: leave it to a credential helper of git"
	case scheme == "file" && (u.Host != "" || !strings.HasPrefix(u.Path, "/")):
		return "a file has to be named as file:///path"
	case scheme != "file" && u.Hostname() == "":
		return "the address has no host"
	case strings.HasPrefix(u.Hostname(), "-"), strings.HasPrefix(u.User.Username(), "-"),
		strings.HasPrefix(u.Path, "/-"), strings.HasPrefix(u.Path, "//-"):
		return "a part of the address begins with -"
	}
	return ""
}

// validBranch reports whether git accepts a name for a new branch.
func validBranch(name string) bool {
	if name == "@" || name == "HEAD" || len(name) > 200 || strings.HasPrefix(name, "-") ||
		strings.ContainsAny(name, " ~^:?*[\\") || strings.Contains(name, "..") || strings.Contains(name, "@{") ||
		strings.ContainsFunc(name, unicode.IsControl) || strings.HasSuffix(name, ".") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}

// checkCampaign returns the reason why an id of a campaign is invalid, "" for a valid id.
func checkCampaign(id string) string {
	if id == "" || len(id) > fleetlimits.CampaignLen || strings.ContainsFunc(id, notInID) {
		return "letters, digits, - and _ are allowed, 1 to 255"
	}
	return ""
}

// notInID reports whether the id of a campaign cannot have a character.
func notInID(c rune) bool {
	return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
}
