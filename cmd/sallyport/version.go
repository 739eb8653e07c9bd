package main

import (
	"fmt"
	"runtime"
)

const versionHelp = `usage: sallyport version

Prints the version, the Go it was built with, and the system.

example:
  sallyport version
`

func printVersion(c *call) int {
	f := c.flags("version", versionHelp)
	if status, done := c.parse(f); done {
		return status
	}
	fmt.Fprintf(c.stdout, "sallyport %s %s %s/%s\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return 0
}
