import type { Attachment } from 'svelte/attachments'
import { foldText } from '../lib/foldText'
import { wordStart } from '../lib/words'

type Person = { id: string; name: string }

const maxSuggestions = 6
// An @ where a word may start, followed by at most two words.
const namePart = "[\\p{L}\\p{M}\\p{N}'’.-]*"
const mentionPattern = new RegExp(`(?<![@＠/\\\\])${wordStart}[@＠](${namePart}(?:\\p{Zs}${namePart})?)$`, 'u')

let lastId = 0

/** Returns at most six people whose name, or a word in it, begins with the text. */
export function matching(people: readonly Person[], text: string): Person[] {
  const prefix = foldText(text)
  return people
    .filter((p) => {
      const name = foldText(p.name)
      return name.startsWith(prefix) || name.split(/\s+/).some((word) => word.startsWith(prefix))
    })
    .slice(0, maxSuggestions)
}

/** Returns an attachment that suggests people to mention when an @ is typed in a textarea. */
export function mention(people: () => readonly Person[]): Attachment<HTMLTextAreaElement> {
  return (node) => {
    const box = document.createElement('ul')
    box.className = 'mentions'
    box.popover = 'manual'
    box.role = 'listbox'
    box.id = `mentions-${++lastId}`
    box.ariaLabel = 'People to mention'
    let suggestions: Person[] = []
    let selected = 0
    let length = 0

    node.setAttribute('aria-autocomplete', 'list')

    function hide(): void {
      suggestions = []
      node.removeAttribute('aria-controls')
      node.removeAttribute('aria-activedescendant')
      if (box.isConnected) box.remove()
    }

    function render(): void {
      const options = suggestions.map((person, i) => {
        const option = document.createElement('li')
        option.role = 'option'
        option.id = `${box.id}-${i}`
        option.ariaSelected = String(i === selected)
        option.textContent = person.name
        // Handle pointerdown, because a click would move the focus out of the textarea.
        option.addEventListener('pointerdown', (event) => {
          event.preventDefault()
          choose(person)
        })
        return option
      })
      box.replaceChildren(...options)
      node.setAttribute('aria-activedescendant', `${box.id}-${selected}`)
    }

    function show(): void {
      if (!box.isConnected) (node.closest('dialog') ?? document.body).append(box)
      node.setAttribute('aria-controls', box.id)
      render()
      if (!box.matches(':popover-open')) box.showPopover()
      const field = node.getBoundingClientRect()
      const own = box.getBoundingClientRect()
      const below = field.bottom + 4 + own.height < innerHeight
      box.style.left = `${Math.max(8, Math.min(field.left, innerWidth - own.width - 8))}px`
      box.style.top = `${below ? field.bottom + 4 : Math.max(8, field.top - own.height - 4)}px`
    }

    function update(): void {
      const match =
        node.selectionStart === node.selectionEnd ? mentionPattern.exec(node.value.slice(0, node.selectionStart)) : null
      const typed = match?.[1]
      if (typed === undefined) {
        hide()
        return
      }
      suggestions = matching(people(), typed)
      // A name that was typed in full needs no suggestion.
      if (
        suggestions.length === 0 ||
        (suggestions.length === 1 && foldText(suggestions[0]!.name) === foldText(typed.trimEnd()))
      ) {
        hide()
        return
      }
      length = typed.length
      selected = 0
      show()
    }

    function choose(person: Person): void {
      const end = node.selectionStart
      node.setRangeText(`${person.name} `, end - length, end, 'end')
      hide()
      node.dispatchEvent(new Event('input', { bubbles: true }))
      hide()
    }

    function keydown(event: KeyboardEvent): void {
      if (suggestions.length === 0) return
      if (event.key === 'ArrowDown') selected = (selected + 1) % suggestions.length
      else if (event.key === 'ArrowUp') selected = (selected + suggestions.length - 1) % suggestions.length
      else if ((event.key === 'Enter' && !event.ctrlKey && !event.metaKey) || event.key === 'Tab')
        choose(suggestions[selected]!)
      else if (event.key === 'Escape') hide()
      else return
      event.preventDefault()
      event.stopImmediatePropagation()
      if (suggestions.length > 0) render()
    }

    node.addEventListener('input', update)
    node.addEventListener('click', update)
    node.addEventListener('blur', hide)
    node.addEventListener('keydown', keydown, true)
    return () => {
      hide()
      for (const name of ['input', 'click'] as const) node.removeEventListener(name, update)
      node.removeEventListener('blur', hide)
      node.removeEventListener('keydown', keydown, true)
    }
  }
}
