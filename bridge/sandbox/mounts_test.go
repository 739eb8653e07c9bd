package sandbox

import (
	"reflect"
	"strings"
	"testing"
)

const startTable = `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:5 / /dev rw shared:2 - devtmpfs devtmpfs rw
30 22 0:50 / /alone rw - tmpfs tmpfs rw
`

// TestFreshMounts: a mount is told when it is new, seen inside, and may be
// written there.
func TestFreshMounts(t *testing.T) {
	dir := t.TempDir()
	spared, file := dir+"/region", strings.ReplaceAll(dir, " ", `\040`)
	g := &ground{known: parseMounts([]byte(startTable)), spared: []string{"/dev", spared}}
	for _, test := range []struct {
		name, line string
		want       []string
	}{
		{"nothing", "", nil},
		{"a disk", "40 22 8:1 / " + file + " rw,nosuid shared:9 - vfat /dev/sda1 rw", []string{dir}},
		{"a disk that is not to be written", "40 22 8:1 / " + file + " ro shared:9 - vfat /dev/sda1 rw", nil},
		{"one that cannot be written", "40 22 8:1 / " + file + " rw shared:9 - iso9660 /dev/sr0 ro", nil},
		{"one that is seen here only", "40 30 8:1 / " + file + " rw - vfat /dev/sda1 rw", nil},
		{"in the region", "40 22 8:1 / " + file + "/region/m rw shared:9 - vfat /dev/sda1 rw", nil},
		{"where nobody comes", "40 22 8:1 / /no/such/place rw shared:9 - vfat /dev/sda1 rw", nil},
		{"a network namespace", "40 22 0:4 net:[1] " + file + " rw shared:9 - nsfs nsfs rw", nil},
		{"not a line", "40 22 8:1", nil},
		{"another in the place of one that was there", "30 22 0:51 / " + file + " rw - tmpfs tmpfs rw", []string{dir}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := g.fresh([]byte(startTable + test.line + "\n")); !reflect.DeepEqual(got, test.want) {
				t.Errorf("%s: got %q, want %q", test.line, got, test.want)
			}
		})
	}
	if got := (*ground)(nil).fresh([]byte(startTable)); got != nil {
		t.Errorf("without a fence: got %q", got)
	}
}

func TestParseMounts(t *testing.T) {
	got := parseMounts([]byte(`36 35 98:0 /root /a\040b\134c ro,noatime master:1 shared:2 - ext4 /dev/x rw` + "\n"))
	want := map[string]mountLine{"36": {id: "36", parent: "35", at: `/a b\c`, kind: "ext4", shared: true, readOnly: true}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
