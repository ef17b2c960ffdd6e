import type { IWebhookFunctions } from 'n8n-workflow'

/** How many deliveries are remembered. */
const max = 1000

/** The keys of the last deliveries that started a workflow, from the oldest to the newest. */
const started = new Set<string>()

/** Reports whether a delivery has started its workflow. */
export function hasStarted(key: string): boolean {
  return started.has(key)
}

/**
 * Remembers a delivery once n8n has responded to it, which it does when it has stored the execution.
 * If n8n cannot do that, it responds with an error, and the repeat of the delivery starts the
 * workflow. The memory is that of the process: n8n does not save static data that changes when it
 * starts an execution.
 */
export function rememberStart(context: IWebhookFunctions, key: string): void {
  const response = context.getResponseObject()
  response.once('finish', () => {
    if (response.statusCode >= 300) return
    started.add(key)
    for (const oldest of started) {
      if (started.size <= max) break
      started.delete(oldest)
    }
  })
}
