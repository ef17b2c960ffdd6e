// Runs the built binary as a separate process. CARDWALL_BIN replaces ../bin/cardwall.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A running server. The credentials are those of the demo account, and empty without demo data. */
export type RunningServer = {
  url: string
  email: string
  password: string
  token: string
  /** The link that creates the first account; empty if the server has an account. */
  firstAccountLink: string
  stop: (signal: 'SIGTERM' | 'SIGKILL') => Promise<void>
}

/** The ports that freePort has returned. Servers that start at the same time do not listen yet. */
const reserved = new Set<number>()

/** Returns an unused port outside the range that Linux uses for outgoing connections. */
export function freePort(): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 10_000)
  if (reserved.has(port)) return freePort()
  reserved.add(port)
  return new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(freePort()))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(port)))
  })
}

/** Starts a server with demo data. The data folder may be empty. */
export function startDemoServer(folder: string, port: number): Promise<RunningServer> {
  return startServer(folder, port, `http://localhost:${port}`, ['--demo']) // passkeys need a host name
}

/** Starts a server with a base URL and further flags, and waits until it serves requests. */
export async function startServer(folder: string, port: number, url: string, flags: string[]): Promise<RunningServer> {
  const binary = process.env.CARDWALL_BIN ?? '../bin/cardwall'
  const args = ['serve', '--data', folder, '--addr', `127.0.0.1:${port}`, '--base-url', url, ...flags]
  // Webhook receivers run on this machine, and failed deliveries are retried soon.
  args.push('--rate-limits', 'off', '--webhook-allow', '127.0.0.1', '--webhook-retry-pauses', '6s,1s')
  args.push('--operators', 'demo@example.com')
  // On Linux, the server is killed when this process ends, even if that is by SIGKILL.
  const onLinux = process.platform === 'linux'
  if (onLinux) args.unshift('--pdeathsig=KILL', binary)
  const server = spawn(onLinux ? 'setpriv' : binary, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const demo = flags.includes('--demo')
  let output = ''
  const ready = new Promise<void>((resolve, reject) => {
    const onOutput = (chunk: Buffer) => {
      output += chunk.toString()
      if ((!demo || /password\s+\S+\n/.test(output)) && output.includes('"serving"')) resolve()
    }
    server.stdout.on('data', onOutput)
    server.stderr.on('data', onOutput)
    server.on('error', reject)
    server.on('exit', () => reject(new Error(`the server exited:\n${output}`)))
  })
  await ready
  const field = (name: string) => new RegExp(`${name}\\s+(\\S+)`).exec(output)?.[1] ?? ''
  const firstAccountLink = /\S+\/first#\w+/.exec(output)?.[0] ?? ''
  const stop = async (signal: 'SIGTERM' | 'SIGKILL') => {
    if (server.exitCode !== null || server.signalCode !== null) return
    const exited = new Promise((done) => server.once('close', done))
    server.kill(signal)
    await exited
  }
  return {
    url,
    email: field('email'),
    password: field('password'),
    token: field('API token'),
    firstAccountLink,
    stop,
  }
}

/** Creates a temporary folder, and returns it with a function that removes it. */
export function makeTempFolder(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'cardwall-e2e-'))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
