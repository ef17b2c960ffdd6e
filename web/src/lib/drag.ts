// Drag and drop with pointer events. A mouse drag begins after the mouse has moved a few
// pixels. A touch drag begins after a long press.

/** Callbacks and options of a drag. T is the type of its drop targets. */
export type DragHandlers<T> = {
  /** The dragged element. A copy of it follows the pointer. */
  element: HTMLElement
  /** Returns the drop target at a point, or null if there is none. */
  targetAt: (x: number, y: number) => T | null
  /** Returns the elements that scroll when the pointer is near their edges. */
  scrollers: (x: number, y: number) => { x?: Element | null; y?: Element | null }
  onstart: () => void
  /** Called when the drop target changes. */
  ontarget: (target: T | null) => void
  /** Called once when the drag ends, with null if it was canceled or ended outside all targets. */
  onend: (target: T | null) => void
  /** The number of dragged items. The copy shows it if there is more than one. */
  count?: number
}

const mouseThreshold = 5 // pixels
const longPress = 260 // ms
const touchSlop = 8 // pixels
const scrollEdge = 56 // pixels

/**
 * Handles a pointerdown event that may become a drag. When the mouse has moved far enough,
 * or the finger has stayed in place long enough, it calls `handlers` and starts the drag.
 * `handlers` returns null to prevent the drag.
 */
export function startDrag<T>(down: PointerEvent, handlers: () => DragHandlers<T> | null): void {
  if (down.button !== 0 || !down.isPrimary) return
  const touch = down.pointerType !== 'mouse'
  const { clientX: startX, clientY: startY } = down
  let x = startX
  let y = startY
  let drag: DragHandlers<T> | null = null
  let ghost: HTMLElement | null = null
  let shield: HTMLElement | null = null
  /** Where the element was grabbed, relative to its top left corner. */
  let grip = { x: 0, y: 0 }
  let target: T | null = null
  let frame = 0
  const longPressTimer = touch ? setTimeout(begin, longPress) : undefined

  function begin(): void {
    drag = handlers()
    if (!drag) {
      stop()
      return
    }
    const box = drag.element.getBoundingClientRect()
    grip = { x: startX - box.left, y: startY - box.top }
    ghost = drag.element.cloneNode(true) as HTMLElement
    ghost.classList.add('drag-ghost')
    ghost.removeAttribute('id')
    ghost.inert = true
    ghost.style.width = `${box.width}px`
    ghost.style.height = `${Math.min(box.height, innerHeight * 0.7)}px`
    if (drag.count && drag.count > 1) ghost.dataset.count = String(drag.count)
    // Set the cursor and block hover effects with an element that covers the page. A style rule for all
    // elements would restyle the entire page.
    shield = document.createElement('div')
    shield.className = 'drag-shield'
    shield.addEventListener('wheel', onWheel, { passive: true })
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
    const next = drag.targetAt(x, y)
    if (JSON.stringify(next) !== JSON.stringify(target)) {
      target = next
      drag.ontarget(target)
    }
    frame = requestAnimationFrame(step)
  }

  function onWheel(event: WheelEvent): void {
    const scrollers = drag?.scrollers(x, y)
    scrollers?.x?.scrollBy(event.deltaX, 0)
    scrollers?.y?.scrollBy(0, event.deltaY)
  }

  function onMove(event: PointerEvent): void {
    if (event.pointerId !== down.pointerId) return
    x = event.clientX
    y = event.clientY
    const distance = Math.hypot(x - startX, y - startY)
    if (drag) return
    if (touch && distance > touchSlop) stop()
    else if (!touch && distance > mouseThreshold) begin()
  }

  function onEnd(event: PointerEvent): void {
    if (event.pointerId !== down.pointerId) return
    const ended = drag
    const dropTarget = event.type === 'pointerup' ? target : null
    if (ended) suppressClick()
    stop()
    ended?.onend(dropTarget)
  }

  function onKeydown(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || !drag) return
    event.preventDefault()
    event.stopPropagation()
    const canceled = drag
    stop()
    canceled.onend(null)
  }

  function onTouchMove(event: TouchEvent): void {
    if (drag) event.preventDefault() // prevents scrolling
  }

  function stop(): void {
    clearTimeout(longPressTimer)
    cancelAnimationFrame(frame)
    ghost?.remove()
    shield?.remove()
    drag = null
    document.documentElement.classList.remove('dragging')
    removeEventListener('pointermove', onMove)
    removeEventListener('pointerup', onEnd)
    removeEventListener('pointercancel', onEnd)
    removeEventListener('touchmove', onTouchMove)
    removeEventListener('keydown', onKeydown, true)
    removeEventListener('contextmenu', onContextMenu)
  }

  function onContextMenu(event: Event): void {
    if (drag || touch) event.preventDefault()
  }

  addEventListener('pointermove', onMove)
  addEventListener('pointerup', onEnd)
  addEventListener('pointercancel', onEnd)
  addEventListener('touchmove', onTouchMove, { passive: false })
  addEventListener('keydown', onKeydown, true)
  addEventListener('contextmenu', onContextMenu)
}

/** Suppresses the click event that follows a drop. */
function suppressClick(): void {
  const suppress = (event: Event) => {
    event.preventDefault()
    event.stopPropagation()
  }
  addEventListener('click', suppress, { capture: true, once: true })
  setTimeout(() => removeEventListener('click', suppress, true), 0)
}

/** Scrolls an element along one axis if the pointer is near its start or end. */
function autoScroll(element: Element | null | undefined, axis: 'x' | 'y', pointer: number): void {
  if (!element) return
  const box = element.getBoundingClientRect()
  const fromStart = axis === 'x' ? pointer - box.left : pointer - box.top
  const fromEnd = axis === 'x' ? box.right - pointer : box.bottom - pointer
  let by = 0
  if (fromStart < scrollEdge) by = -(scrollEdge - Math.max(fromStart, 0)) / 4
  else if (fromEnd < scrollEdge) by = (scrollEdge - Math.max(fromEnd, 0)) / 4
  if (by === 0) return
  if (axis === 'x') element.scrollLeft += by
  else element.scrollTop += by
}
