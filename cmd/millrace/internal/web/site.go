package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed" // for the style and the script
	"encoding/base64"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/millrace-go/millrace/internal/page"
	"github.com/millrace-go/millrace/mcpserver/loopback"
)

// The limits of a request and of the end of the server.
const (
	maxForm      = 4 << 20
	drainTimeout = 10 * time.Second
)

//go:embed page.js
var script string

//go:embed page.css
var ownStyle string

// site has the data that all pages of a server share.
type site struct {
	token, cookie, form string // the secrets of the address, of the browser, and of forms
	base                string // the path that all pages are below, between slashes
	mux                 *http.ServeMux
	policy              string
	side                atomic.Bool // old and new lines are shown in two columns
}

// newSite returns a site without pages. The cookie is for a path of its own, so that the browser does not send it to
// other servers on other ports of the same host.
func newSite() *site {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return &site{
		token: rand.Text(), cookie: rand.Text(), form: rand.Text(), base: "/" + rand.Text() + "/", mux: http.NewServeMux(),
		policy: "default-src 'none'; style-src " + hash(page.Style+ownStyle) + "; script-src " + hash(script) +
			"; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
	}
}

// cookieName is the name of the cookie.
const cookieName = "millrace"

// get adds a page.
func (s *site) get(path string, show http.HandlerFunc) { s.mux.HandleFunc("GET "+s.base+path, show) }

// post adds a form, which needs the secret of the forms.
func (s *site) post(path string, do http.HandlerFunc) {
	s.mux.HandleFunc("POST "+s.base+path, func(w http.ResponseWriter, r *http.Request) {
		var err error
		if r.PostForm, err = fieldsOf(http.MaxBytesReader(w, r.Body, maxForm)); err != nil {
			s.say(w, http.StatusBadRequest, "The form cannot be read", err.Error())
			return
		}
		loopback.Unhurried(w)
		if !loopback.Same(r.PostForm.Get("form"), s.form) {
			s.say(w, http.StatusForbidden, "The form is not from this page", "Load the page again, and decide there.")
			return
		}
		do(w, r)
	})
}

// fieldsOf reads the fields of a form. Unlike ParseForm it does not limit their number: a page has two for each hunk.
func fieldsOf(body io.Reader) (url.Values, error) {
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	fields := make(url.Values)
	for field := range strings.SplitSeq(string(data), "&") {
		name, value, _ := strings.Cut(field, "=")
		if name, err = url.QueryUnescape(name); err != nil {
			return nil, err
		}
		if value, err = url.QueryUnescape(value); err != nil {
			return nil, err
		}
		fields.Add(name, value)
	}
	return fields, nil
}

// handler returns the handler of the pages. It refuses requests without the secret.
func (s *site) handler() http.Handler {
	return loopback.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", s.policy)
		head.Set("Cache-Control", "no-store")
		head.Set("Referrer-Policy", "same-origin")
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("X-Frame-Options", "DENY")
		cookie, err := r.Cookie(cookieName)
		switch {
		case err == nil && loopback.Same(cookie.Value, s.cookie):
			s.mux.ServeHTTP(w, r)
		case r.URL.Path == "/" && r.Method == http.MethodGet && loopback.Same(r.URL.Query().Get("token"), s.token):
			http.SetCookie(w, &http.Cookie{
				Name: cookieName, Value: s.cookie, Path: s.base, HttpOnly: true, SameSite: http.SameSiteStrictMode,
			})
			http.Redirect(w, r, s.base, http.StatusSeeOther)
		default:
			head.Set("Connection", "close") // a client without the secret cannot keep a connection
			http.Error(w, "open the address that millrace has printed", http.StatusForbidden)
		}
	}))
}

// serve serves the pages until ctx is done. ready is called with the address to open.
func (s *site) serve(ctx context.Context, addr string, ready func(address string)) error {
	l, err := loopback.Listen(ctx, addr)
	if err != nil {
		return err
	}
	ready("http://" + l.Addr().String() + "/?token=" + s.token)
	return loopback.Serve(ctx, l, context.WithoutCancel(ctx), s.handler(), drainTimeout)
}

// begin writes the start of a page up to its heading.
func (s *site) begin(p *page.Page, title string) {
	p.WriteString(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<title>`)
	p.Title(title)
	p.WriteString("</title>\n<style>" + page.Style + ownStyle + "</style>\n</head>\n<body>\n<main>\n<header>\n<h1>")
	p.Message(title)
	p.WriteString("</h1>\n")
}

// end writes the end of a page, and sends it.
func (s *site) end(w http.ResponseWriter, status int, p *page.Page) {
	p.WriteString("<footer>Made by millrace.</footer>\n</main>\n<script>" + script + "</script>\n</body>\n</html>\n")
	s.send(w, status, p)
}

// send sends a page, or a part of a page.
func (s *site) send(w http.ResponseWriter, status int, p *page.Page) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(p.Bytes()) // the browser may have closed the connection
}

// say sends a page with a message.
func (s *site) say(w http.ResponseWriter, status int, title, message string) {
	var p page.Page
	s.begin(&p, title)
	class := "warn"
	if status >= http.StatusBadRequest {
		class = "stop"
	}
	p.Note(class, message)
	p.WriteString("</header>\n")
	if status >= http.StatusBadRequest {
		p.WriteString(`<p><a href="` + s.base + "\">Back to the page</a></p>\n")
	}
	s.end(w, status, &p)
}

// hidden returns a hidden field of a form.
func hidden(name, value string) string {
	value = html.EscapeString(strings.ToValidUTF8(value, ""))
	return `<input type="hidden" name="` + name + `" value="` + value + `"/>`
}
