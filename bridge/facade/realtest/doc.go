// Package realtest drives real agents through the facade with real ACP clients: the
// official TypeScript SDK's, acpx, a stand-in for Zed, and acp-go-sdk's. The model is
// scripted. It has tests only.
//
// Invariants:
//
//   - What we author in these runs fits ACP's own schema, our elements of an agent's
//     lists among it; all else is what came in.
//   - The whole project ends as it does with the agent alone, configured alike.
//   - Nothing is left of a run 5 seconds after its client, however that went.
//   - A scene asks for what must hold with every agent; what an agent does in its
//     own way is not asked for, but for its words to the model about a refusal.
package realtest
