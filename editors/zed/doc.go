// Package zed has what sets Zed, and other clients of ACP, up with Sallyport:
// settings.json for custom agents, and registry/sallyport, an entry for the ACP
// registry. The Go in it is tests only.
//
// testdata/agent.schema.json is the registry's own schema (Apache-2.0).
//
// Invariants: every agent with a manifest of ours has an entry, and every entry starts
// what it says.
//
// Deliberately absent: an extension. Zed takes agents from its settings and from the
// registry.
package zed
