// Package realtest drives real agents through the facade with real ACP clients: the
// official TypeScript SDK's, acpx, a stand-in for Zed, and acp-go-sdk's. The model is
// scripted. It has tests only.
//
// Invariants:
//
//   - What we author in these runs fits ACP's own schema.
//   - A scene asks for what must hold with every agent; what an agent does in its
//     own way is not asked for.
package realtest
