package harness

import (
	"fmt"
	"strings"
)

// GlobalID names a harness among all plugins: plugin:<plugin>:<harness>.
// A plugin id has dots and no colon, nor has a harness id.
type GlobalID struct {
	Plugin, Harness string
}

// String is the id as it is written.
func (id GlobalID) String() string { return "plugin:" + id.Plugin + ":" + id.Harness }

// ParseGlobalID reads the form plugin:<plugin>:<harness> strictly: three
// parts, none empty, nothing around them.
func ParseGlobalID(s string) (GlobalID, error) {
	parts := strings.Split(s, ":")
	if len(parts) != 3 || parts[0] != "plugin" || !pluginID(parts[1]) || !harnessID(parts[2]) {
		return GlobalID{}, fmt.Errorf("%s is not of the form plugin:<plugin>:<harness>", quoted(s))
	}
	return GlobalID{Plugin: parts[1], Harness: parts[2]}, nil
}

// pluginID reports whether s is a reverse domain, as the schema has it.
func pluginID(s string) bool {
	labels := strings.Split(s, ".")
	for _, label := range labels {
		if label == "" || !only(label, "abcdefghijklmnopqrstuvwxyz0123456789_-") || strings.ContainsAny(label[:1], "_-") {
			return false
		}
	}
	return len(labels) > 1
}

// harnessID reports whether s is a short id, as the schema has it.
func harnessID(s string) bool {
	return s != "" && len(s) <= 100 && !strings.ContainsAny(s[:1], "._-") &&
		only(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
}

func only(s, letters string) bool { return strings.Trim(s, letters) == "" }
