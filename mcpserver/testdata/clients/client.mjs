// A client of the TypeScript SDK 2 over HTTP with a bearer token, by the newest protocol that both know.
import assert from 'node:assert/strict'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const client = new Client({ name: 'client', version: '2' }, { capabilities: {} })
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.URL_OF_SERVER), {
  requestInit: { headers: { Authorization: `Bearer ${process.env.TOKEN}` } },
}))
const { tools } = await client.listTools()
assert.equal(tools.length, 10)
const done = await client.callTool({
  name: 'fs_write', arguments: { command: 'str_replace', path: 'f001.txt', old_str: 'recieve', new_str: 'receive' },
})
assert.ok(!done.isError, JSON.stringify(done))
assert.equal(done.structuredContent.success, true)
const undone = await client.callTool({ name: 'undo', arguments: { backup_id: done.structuredContent.backup_id } })
assert.ok(!undone.isError, JSON.stringify(undone))
await client.close()
console.log('client: ok')
