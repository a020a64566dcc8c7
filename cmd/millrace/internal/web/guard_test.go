package web_test

import (
	"errors"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/cmd/millrace/internal/webtest"
)

// A request without a secret, or a request that another page could send, reads nothing and changes nothing.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, millrace.Executor{}, map[string]string{"a": words})
	at, err := url.Parse(s.address)
	if err != nil {
		t.Fatal(err)
	}
	action, values, err := s.Form()
	if err != nil {
		t.Fatal(err)
	}
	values.Set("do", "apply")
	page, cookie := s.At, s.Client.Jar.Cookies(s.At)[0]
	for name, c := range map[string]struct {
		method, path string
		change       func(r *http.Request, form url.Values)
		status       int
	}{
		"no cookie":         {method: "GET", path: page.Path, change: func(r *http.Request, _ url.Values) { r.Header.Del("Cookie") }, status: 403},
		"another cookie":    {method: "GET", path: page.Path, change: func(r *http.Request, _ url.Values) { r.Header.Set("Cookie", "millrace=x") }, status: 403},
		"no token":          {method: "GET", path: "/", change: func(r *http.Request, _ url.Values) { r.Header.Del("Cookie") }, status: 403},
		"another token":     {method: "GET", path: "/?token=x", change: func(r *http.Request, _ url.Values) { r.Header.Del("Cookie") }, status: 403},
		"a token by POST":   {method: "POST", path: "/?" + at.RawQuery, change: func(r *http.Request, _ url.Values) { r.Header.Del("Cookie") }, status: 403},
		"another path":      {method: "GET", path: "/etc/passwd", status: 404},
		"apply by GET":      {method: "GET", path: action, status: 405},
		"form, no cookie":   {method: "POST", path: action, change: func(r *http.Request, _ url.Values) { r.Header.Del("Cookie") }, status: 403},
		"form, no secret":   {method: "POST", path: action, change: func(_ *http.Request, form url.Values) { form.Del("form") }, status: 403},
		"form, the token":   {method: "POST", path: action, change: func(_ *http.Request, form url.Values) { form.Set("form", at.Query().Get("token")) }, status: 403},
		"secret in the URL": {method: "POST", path: action + "?form=" + values.Get("form"), change: func(_ *http.Request, form url.Values) { form.Del("form") }, status: 403},
		"another host":      {method: "GET", path: page.Path, change: func(r *http.Request, _ url.Values) { r.Host = "evil.example" }, status: 403},
		"another origin":    {method: "POST", path: action, change: func(r *http.Request, _ url.Values) { r.Header.Set("Origin", "https://evil.example") }, status: 403},
		"origin null":       {method: "POST", path: action, change: func(r *http.Request, _ url.Values) { r.Header.Set("Origin", "null") }, status: 403},
		"another site":      {method: "GET", path: page.Path, change: func(r *http.Request, _ url.Values) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, status: 403},
		"another port":      {method: "POST", path: action, change: func(r *http.Request, _ url.Values) { r.Header.Set("Sec-Fetch-Site", "same-site") }, status: 403},
		"another digest":    {method: "POST", path: action, change: func(_ *http.Request, form url.Values) { form.Set("digest", strings.Repeat("0", 64)) }, status: 409},
		"no button":         {method: "POST", path: action, change: func(_ *http.Request, form url.Values) { form.Del("do") }, status: 400},
		"another button":    {method: "POST", path: action, change: func(_ *http.Request, form url.Values) { form.Set("do", "force") }, status: 400},
		"another file":      {method: "POST", path: action, change: func(_ *http.Request, form url.Values) { form.Add("shown", "1") }, status: 400},
		"no number":         {method: "POST", path: action, change: func(_ *http.Request, form url.Values) { form.Add("shown", "0.x") }, status: 400},
		"another hunk":      {method: "POST", path: action, change: func(_ *http.Request, form url.Values) { form.Add("shown", "0.7") }, status: 409},
		"a long form":       {method: "POST", path: action, change: func(_ *http.Request, form url.Values) { form.Set("x", strings.Repeat("x", 5<<20)) }, status: 400},
		"lines of no file":  {method: "GET", path: page.Path + "lines/9", status: 404},
		"no such file":      {method: "GET", path: page.Path + "file/-1", status: 404},
	} {
		form := make(url.Values)
		for k, v := range values {
			form[k] = append([]string(nil), v...)
		}
		r, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+at.Host+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Cookie", cookie.String())
		if c.change != nil {
			c.change(r, form)
		}
		if c.method == "POST" {
			full, err := http.NewRequestWithContext(t.Context(), c.method, r.URL.String(), strings.NewReader(form.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			full.Header, full.Host = r.Header, r.Host
			full.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r = full
		}
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_ = res.Body.Close()
		if res.StatusCode != c.status {
			t.Errorf("%s: the status is %d, not %d", name, res.StatusCode, c.status)
		}
		if c.status == 403 && len(res.Cookies()) > 0 {
			t.Errorf("%s: the answer has a cookie", name)
		}
	}
	s.holds(map[string]string{"a": words})
}

// The cookie is only for this server, and scripts cannot read it.
func TestCookie(t *testing.T) {
	t.Parallel()
	s := serve(t, millrace.Executor{}, map[string]string{"a": words})
	res, err := http.DefaultTransport.RoundTrip(&http.Request{Method: "GET", URL: parse(t, s.address), Header: http.Header{}})
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	cookies := res.Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode || len(cookies[0].Path) < 20 {
		t.Errorf("the cookies are %v", cookies)
	}
	if strings.Contains(res.Header.Get("Location"), "token") || strings.Contains(s.Page, parse(t, s.address).Query().Get("token")) {
		t.Error("the token stays in the address, or in the page")
	}
	policy := s.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %s", policy)
	}
}

func parse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// If a form is sent twice at once, the change is made once. The second answer reports the decision.
func TestSentTwice(t *testing.T) {
	t.Parallel()
	s := serve(t, millrace.Executor{}, map[string]string{"a": words})
	action, values, err := s.Form()
	if err != nil {
		t.Fatal(err)
	}
	values.Set("do", "apply")
	again, err := webtest.Open(s.address)
	if err != nil {
		t.Fatal(err)
	}
	made, sent := 0, make(chan error, 1)
	s.making = func() {
		if made++; made > 1 {
			return
		}
		begun := make(chan struct{})
		trace := &httptrace.ClientTrace{Got100Continue: func() { close(begun) }}
		go func() { sent <- again.PostTraced(trace, action, values) }()
		<-begun // the server has the second request, which waits until the first is answered
	}
	s.press(200, "The change was made", "apply")
	if err := <-sent; err != nil || again.Status != 409 || again.Heading() != "The decision is made" {
		t.Errorf("the second answer is %d, %q, %v", again.Status, again.Heading(), err)
	}
	s.end(nil)
	if made != 1 {
		t.Errorf("the change was made %d times", made)
	}
	s.holds(map[string]string{"a": strings.ReplaceAll(words, "one", "two")})
}

// If another plan was stored, the page shows it before it can be applied.
func TestStoredAnew(t *testing.T) {
	t.Parallel()
	var x millrace.Executor
	s := serve(t, x, map[string]string{"a": words})
	s.plan(x, actions.Edit{Files: []string{"a"}, OldText: "d", NewText: "D"})
	s.press(409, "This is another plan now", "apply", "0.0")
	s.holds(map[string]string{"a": words})
	if err := s.Get("./"); err != nil {
		t.Fatal(err)
	}
	s.press(200, "The change was made", "apply")
	s.end(nil)
	s.holds(map[string]string{"a": strings.Replace(words, "d", "D", 1)})
}

// A plan that the page has not shown is not approved, even if the run now waits with this plan.
func TestUnseenPlan(t *testing.T) {
	t.Parallel()
	list, jobs := withTexts("plain")
	s := serveRuns(t, "a", words, list, jobs)
	if err := s.Get("run/3/"); err != nil {
		t.Fatal(err)
	}
	action, values, err := s.Form()
	if err != nil {
		t.Fatal(err)
	}
	values.Set("do", "apply")
	s.plan(millrace.Executor{}, actions.Edit{Files: []string{"a"}, OldText: "d", NewText: "D"})
	for range 2 {
		if err := s.Post(action, values); err != nil || s.Status != 409 || s.Heading() != "Nothing was decided" {
			t.Errorf("status %d, %q: %v", s.Status, s.Heading(), err)
		}
	}
	if s.decided != nil {
		t.Errorf("the decisions are %q", s.decided)
	}
}

// A file that has changed since the plan is marked as changed, and is not written.
func TestDrift(t *testing.T) {
	t.Parallel()
	for name, look := range map[string]bool{"seen": true, "unseen": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, millrace.Executor{}, map[string]string{"a": words, "b": words})
			s.write("a", "other\n")
			if look {
				if err := s.Get("./"); err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(s.Page, "has changed since") {
					t.Errorf("the page does not mark the file:\n%s", s.Page)
				}
			}
			s.press(200, "The change was not made", "apply")
			if err := <-s.ended; !isConflict(err) {
				t.Errorf("the server ends with %v", err)
			}
			s.holds(map[string]string{"a": "other\n", "b": words})
		})
	}
}

func isConflict(err error) bool {
	_, ok := errors.AsType[*millrace.ConflictError](err)
	return ok
}

// A choice is refused if it takes no hunk, or leaves out a hunk that a taken hunk needs.
func TestChoicesThatCannotBe(t *testing.T) {
	t.Parallel()
	s := serve(t, millrace.Executor{}, map[string]string{"a": words})
	s.press(409, "Nothing was taken", "apply", "0", "0.0", "0.1")
	if err := s.Get("./"); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(s.Page, `checked="checked"`) {
		t.Error("a hunk that was left out is ticked again")
	}
	s.holds(map[string]string{"a": words})
}
