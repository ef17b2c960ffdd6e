// Our own pointer engine: a mouse drags at once, a finger after it rested. It
// knows nothing of cards: whoever starts a drag says what a place is.

export type DragHandlers<P> = {
  /** The element that is lifted; a copy of it follows the pointer. */
  lifted: HTMLElement
  /** The place under the pointer; null means back to where it was. */
  placeAt: (x: number, y: number) => P | null
  /** Elements that scroll when the pointer nears an edge. */
  scrollers: (x: number, y: number) => { x?: Element | null; y?: Element | null }
  onstart: () => void
  onplace: (place: P | null) => void
  /** Always called once after onstart; null when it was called off. */
  onend: (place: P | null) => void
  /** How many things travel, shown when there are several. */
  count?: number
}

const mouseDistance = 5
const fingerRest = 260
const fingerSlip = 8
const edge = 56

/** Follows one press; becomes a drag when the pointer says so, else it stays a click. */
export function press<P>(down: PointerEvent, handlers: () => DragHandlers<P> | null): void {
  if (down.button !== 0 || !down.isPrimary) return
  const finger = down.pointerType !== 'mouse'
  const { clientX: startX, clientY: startY } = down
  let x = startX
  let y = startY
  let drag: DragHandlers<P> | null = null
  let ghost: HTMLElement | null = null
  let shield: HTMLElement | null = null
  let grip = { x: 0, y: 0 }
  let place: P | null = null
  let frame = 0
  const rest = finger ? setTimeout(begin, fingerRest) : undefined

  function begin(): void {
    drag = handlers()
    if (!drag) {
      stop()
      return
    }
    const at = drag.lifted.getBoundingClientRect()
    grip = { x: startX - at.left, y: startY - at.top }
    ghost = drag.lifted.cloneNode(true) as HTMLElement
    ghost.classList.add('drag-ghost')
    ghost.removeAttribute('id')
    ghost.inert = true
    ghost.style.width = `${at.width}px`
    ghost.style.height = `${Math.min(at.height, innerHeight * 0.7)}px`
    if (drag.count && drag.count > 1) ghost.dataset.count = String(drag.count)
    // A shield and not a class for all: that would restyle the whole page.
    shield = document.createElement('div')
    shield.className = 'drag-shield'
    shield.addEventListener('wheel', wheel, { passive: true })
    document.body.append(shield, ghost)
    document.documentElement.classList.add('dragging')
    if (finger) navigator.vibrate?.(10)
    getSelection()?.removeAllRanges()
    drag.onstart()
    frame = requestAnimationFrame(step)
  }

  function step(): void {
    if (!drag || !ghost) return
    ghost.style.transform = `translate(${x - grip.x}px, ${y - grip.y}px) rotate(1.5deg)`
    const scrollers = drag.scrollers(x, y)
    pull(scrollers.x, 'x', x)
    pull(scrollers.y, 'y', y)
    const next = drag.placeAt(x, y)
    if (JSON.stringify(next) !== JSON.stringify(place)) {
      place = next
      drag.onplace(place)
    }
    frame = requestAnimationFrame(step)
  }

  function wheel(event: WheelEvent): void {
    const scrollers = drag?.scrollers(x, y)
    scrollers?.x?.scrollBy(event.deltaX, 0)
    scrollers?.y?.scrollBy(0, event.deltaY)
  }

  function move(event: PointerEvent): void {
    if (event.pointerId !== down.pointerId) return
    x = event.clientX
    y = event.clientY
    const way = Math.hypot(x - startX, y - startY)
    if (drag) return
    if (finger && way > fingerSlip) stop()
    else if (!finger && way > mouseDistance) begin()
  }

  function end(event: PointerEvent): void {
    if (event.pointerId !== down.pointerId) return
    const done = drag
    const where = event.type === 'pointerup' ? place : null
    if (done) swallowClick()
    stop()
    done?.onend(where)
  }

  function key(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || !drag) return
    event.preventDefault()
    event.stopPropagation()
    const done = drag
    stop()
    done.onend(null)
  }

  function hold(event: TouchEvent): void {
    if (drag) event.preventDefault() // the page must not scroll under a card
  }

  function stop(): void {
    clearTimeout(rest)
    cancelAnimationFrame(frame)
    ghost?.remove()
    shield?.remove()
    drag = null
    document.documentElement.classList.remove('dragging')
    removeEventListener('pointermove', move)
    removeEventListener('pointerup', end)
    removeEventListener('pointercancel', end)
    removeEventListener('touchmove', hold)
    removeEventListener('keydown', key, true)
    removeEventListener('contextmenu', menu)
  }

  function menu(event: Event): void {
    if (drag || finger) event.preventDefault()
  }

  addEventListener('pointermove', move)
  addEventListener('pointerup', end)
  addEventListener('pointercancel', end)
  addEventListener('touchmove', hold, { passive: false })
  addEventListener('keydown', key, true)
  addEventListener('contextmenu', menu)
}

/** The click that follows a drop is not one on a card. */
function swallowClick(): void {
  const swallow = (event: Event) => {
    event.preventDefault()
    event.stopPropagation()
  }
  addEventListener('click', swallow, { capture: true, once: true })
  setTimeout(() => removeEventListener('click', swallow, true), 0)
}

function pull(element: Element | null | undefined, axis: 'x' | 'y', at: number): void {
  if (!element) return
  const box = element.getBoundingClientRect()
  const near = axis === 'x' ? at - box.left : at - box.top
  const far = axis === 'x' ? box.right - at : box.bottom - at
  const by = near < edge ? -(edge - Math.max(near, 0)) / 4 : far < edge ? (edge - Math.max(far, 0)) / 4 : 0
  if (by === 0) return
  if (axis === 'x') element.scrollLeft += by
  else element.scrollTop += by
}
