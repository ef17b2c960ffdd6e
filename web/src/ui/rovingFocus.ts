import { keyOf } from '../lib/keys'
import type { Attachment } from 'svelte/attachments'

/**
 * Returns an attachment that moves the focus through the elements of a list with the Up and
 * Down keys, J, K, Home and End. Moving up from the first element calls `above`.
 */
export function rovingFocus(selector: string, above?: () => void): Attachment<HTMLElement> {
  return (node) => {
    const onKeydown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.target as Element).matches(selector)) return
      const all = [...node.querySelectorAll<HTMLElement>(selector)]
      const at = all.indexOf(event.target as HTMLElement)
      let to: HTMLElement | undefined
      const key = keyOf(event)
      if (key === 'ArrowDown' || key === 'j') to = all[at + 1]
      else if (key === 'ArrowUp' || key === 'k') {
        if (at === 0) above?.()
        else to = all[at - 1]
      } else if (key === 'Home') to = all[0]
      else if (key === 'End') to = all.at(-1)
      else return
      event.preventDefault()
      event.stopPropagation()
      to?.focus()
      to?.scrollIntoView({ block: 'nearest' })
    }
    node.addEventListener('keydown', onKeydown)
    return () => node.removeEventListener('keydown', onKeydown)
  }
}
