import type { Attachment } from 'svelte/attachments'

let box: HTMLElement | null = null
let timer: ReturnType<typeof setTimeout> | undefined

function show(node: Element, text: string, keys?: string): void {
  if (!box) {
    box = document.createElement('div')
    box.className = 'tip'
    box.popover = 'manual'
    box.ariaHidden = 'true' // duplicates the label of the control
  }
  box.replaceChildren(text)
  if (keys) {
    const kbd = document.createElement('kbd')
    kbd.textContent = keys
    box.append(kbd)
  }
  // Append to an open dialog, because the dialog covers everything outside.
  ;(node.closest('dialog') ?? document.body).append(box)
  box.showPopover()
  const at = node.getBoundingClientRect()
  const own = box.getBoundingClientRect()
  const left = Math.min(Math.max(6, at.left + at.width / 2 - own.width / 2), innerWidth - own.width - 6)
  const below = at.bottom + 6 + own.height < innerHeight
  box.style.left = `${left}px`
  box.style.top = `${below ? at.bottom + 6 : at.top - own.height - 6}px`
}

function hide(): void {
  clearTimeout(timer)
  if (box?.isConnected && box.matches(':popover-open')) box.hidePopover()
}

/** Returns an attachment that shows a tooltip when the mouse rests on a control or the keyboard focuses it. */
export function tooltip(text: string, keys?: string): Attachment<HTMLElement> {
  return (node) => {
    const schedule = (event: Event) => {
      if (event.type === 'focus' && !node.matches(':focus-visible')) return
      if (event instanceof PointerEvent && event.pointerType !== 'mouse') return
      clearTimeout(timer)
      timer = setTimeout(() => node.isConnected && show(node, text, keys), 450)
    }
    node.addEventListener('pointerenter', schedule)
    node.addEventListener('focus', schedule)
    for (const name of ['pointerleave', 'blur', 'pointerdown', 'keydown']) node.addEventListener(name, hide)
    return hide
  }
}
