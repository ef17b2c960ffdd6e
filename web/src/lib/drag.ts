// Drag and drop with pointer events. A mouse drags immediately, a finger after a
// long press. The caller defines the drop targets.

export type DragHandlers<P> = {
  /** The dragged element. A copy of it follows the pointer. */
  lifted: HTMLElement
  /** Returns the drop target at a point, or null if there is none. */
  placeAt: (x: number, y: number) => P | null
  /** Returns the elements that scroll when the pointer is near their edges. */
  scrollers: (x: number, y: number) => { x?: Element | null; y?: Element | null }
  onstart: () => void
  onplace: (place: P | null) => void
  /** Called once after onstart, with null if the drag was canceled. */
  onend: (place: P | null) => void
  /** The number of dragged items, shown if there are several. */
  count?: number
}

const mouseThreshold = 5 // pixels
const longPress = 260 // ms
const touchSlop = 8 // pixels
const edge = 56 // pixels

/** Follows one press. It becomes a drag if the pointer moves far enough or rests; otherwise it stays a click. */
export function press<P>(down: PointerEvent, handlers: () => DragHandlers<P> | null): void {
  if (down.button !== 0 || !down.isPrimary) return
  const touch = down.pointerType !== 'mouse'
  const { clientX: startX, clientY: startY } = down
  let x = startX
  let y = startY
  let drag: DragHandlers<P> | null = null
  let ghost: HTMLElement | null = null
  let shield: HTMLElement | null = null
  let grip = { x: 0, y: 0 }
  let place: P | null = null
  let frame = 0
  const longPressTimer = touch ? setTimeout(begin, longPress) : undefined

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
    // Cover the page with an element: a class on the root would restyle the whole page.
    shield = document.createElement('div')
    shield.className = 'drag-shield'
    shield.addEventListener('wheel', wheel, { passive: true })
    document.body.append(shield, ghost)
    document.documentElement.classList.add('dragging')
    if (touch) navigator.vibrate?.(10)
    getSelection()?.removeAllRanges()
    drag.onstart()
    frame = requestAnimationFrame(step)
  }

  function step(): void {
    if (!drag || !ghost) return
    ghost.style.transform = `translate(${x - grip.x}px, ${y - grip.y}px) rotate(1.5deg)`
    const scrollers = drag.scrollers(x, y)
    autoScroll(scrollers.x, 'x', x)
    autoScroll(scrollers.y, 'y', y)
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
    const distance = Math.hypot(x - startX, y - startY)
    if (drag) return
    if (touch && distance > touchSlop) stop()
    else if (!touch && distance > mouseThreshold) begin()
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
    if (drag) event.preventDefault() // do not scroll the page while dragging
  }

  function stop(): void {
    clearTimeout(longPressTimer)
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
    if (drag || touch) event.preventDefault()
  }

  addEventListener('pointermove', move)
  addEventListener('pointerup', end)
  addEventListener('pointercancel', end)
  addEventListener('touchmove', hold, { passive: false })
  addEventListener('keydown', key, true)
  addEventListener('contextmenu', menu)
}

/** Suppresses the click that follows a drop. */
function swallowClick(): void {
  const swallow = (event: Event) => {
    event.preventDefault()
    event.stopPropagation()
  }
  addEventListener('click', swallow, { capture: true, once: true })
  setTimeout(() => removeEventListener('click', swallow, true), 0)
}

function autoScroll(element: Element | null | undefined, axis: 'x' | 'y', at: number): void {
  if (!element) return
  const box = element.getBoundingClientRect()
  const near = axis === 'x' ? at - box.left : at - box.top
  const far = axis === 'x' ? box.right - at : box.bottom - at
  const by = near < edge ? -(edge - Math.max(near, 0)) / 4 : far < edge ? (edge - Math.max(far, 0)) / 4 : 0
  if (by === 0) return
  if (axis === 'x') element.scrollLeft += by
  else element.scrollTop += by
}
