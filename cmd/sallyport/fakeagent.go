package main

import "sallyport/bridge/fakeagent"

func fakeAgent(c *call) int { return fakeagent.Run(c.args, c.stdin, c.stdout, c.stderr) }
