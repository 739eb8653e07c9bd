package receipt

import (
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	run := "Zx9Q" + strings.Repeat("aB3d", 8)
	tests := []struct{ in, want string }{
		// What stays.
		{"go test ./... -run 'TestX|TestY'", ""},
		{"git show 0123456789abcdef0123456789abcdef01234567", ""},
		{"src/TokenStream/author.go", ""},
		{"rm -rf node_modules && npm run build", ""},
		{"https://example.com/a/b.html", ""},
		{"mcp__github__list_issues", ""},
		{"cat tokens.txt | sort -u names", ""},
		{"make keyboard", ""},
		{"docker run -u 1000 x", ""},
		// Addresses.
		{"curl https://user:pa@ss@h.org/x", "curl https://[hidden]@h.org/x"},
		{"https://h.org/x?q=1&key=2#frag", "https://h.org/x?[hidden]"},
		{"https://h.org?q", "https://h.org?[hidden]"},
		{"https://h.org/x#access_token=1", "https://h.org/x#[hidden]"},
		{"open data:text/plain;base64,SGVsbG8=", "open data:[hidden]"},
		{"psql postgres://app:hunter2@db/x", "psql postgres://[hidden]@db/x"},
		// Named values.
		{`curl -H "Authorization: Bearer abc" h`, `curl -H "Authorization[hidden]" h`},
		{`curl -H 'X-Api-Key: abc' h`, `curl -H 'X-Api-Key[hidden]' h`},
		{`curl --cookie a -H 'Cookie: a=b; c=d'`, `curl --cookie a -H 'Cookie[hidden]'`},
		{"PGPASSWORD=hunter2 psql", "PGPASSWORD=[hidden] psql"},
		{"export AWS_SECRET_ACCESS_KEY='hun ter2'", "export AWS_SECRET_ACCESS_KEY=[hidden]"},
		{"login --password hunter2 --user me", "login --password [hidden] --user me"},
		{"login --password=hunter2", "login --password=[hidden]"},
		{"gh auth --with-token \"hun ter2\"", "gh auth --with-token [hidden]"},
		{"curl -u me:hunter2 h", "curl -u me:[hidden] h"},
		{"sshpass -p hunter2 ssh h", "sshpass -p [hidden] ssh h"},
		{"mysql -u root -phunter2 db", "mysql -u root -p[hidden] db"},
		{`echo '{"api_key": "hunter2"}'`, `echo '{"api_key": [hidden]}'`},
		{"API-KEY : hunter2", "API-KEY : [hidden]"},
		// Shapes.
		{"echo sk-" + strings.Repeat("ab1", 8), "echo [hidden]"},
		{"ghp_abcdefghijklmnopqrst0123 and AKIAABCDEFGHIJKLMNOP", "[hidden] and [hidden]"},
		{"x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig y", "x [hidden] y"},
		{"echo -----BEGIN OPENSSH PRIVATE KEY----- abc", "echo [hidden]"},
		{"echo " + run + " x", "echo [hidden] x"},
		// Contents.
		{"cat > f <<EOF\nsecret text\nEOF", "cat > f <<EOF …"},
		{"ls\r\n", "ls"},
	}
	for _, tt := range tests {
		want := tt.want
		if want == "" {
			want = tt.in
		}
		got := Redact(tt.in)
		if got != want {
			t.Errorf("Redact(%q)\n got %q\nwant %q", tt.in, got, want)
		}
		if again := Redact(got); again != got {
			t.Errorf("Redact(%q) = %q, and of that %q", tt.in, got, again)
		}
	}
}

func BenchmarkRedact(b *testing.B) {
	for name, s := range map[string]string{
		"command": "go test -run 'TestA|TestB' ./workspace/... && git commit -m 'x: y'", "long": strings.Repeat("long ", 800),
		"dashes": strings.Repeat(" --a", 1000), "letters": strings.Repeat("a", 4000),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Redact(s)
			}
		})
	}
}
